#include "read_text/text_boxes.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace read_text {
namespace {

struct Component {
  std::vector<Point> edge;  // pixels that touch the outside, one on each end of every row run at least
  double sum = 0;           // of probabilities
  int count = 0;
};

// The pixels connected to (x, y), marked as seen.
Component flood(const float* map, int width, int height, float threshold, int x, int y, std::vector<bool>& seen) {
  Component c;
  const auto at = [&](int px, int py) {
    return static_cast<size_t>(py) * static_cast<size_t>(width) + static_cast<size_t>(px);
  };
  const auto is_text = [&](int px, int py) {
    return px >= 0 && py >= 0 && px < width && py < height && map[at(px, py)] > threshold;
  };
  std::vector<std::pair<int, int>> todo{{x, y}};
  seen[at(x, y)] = true;
  while (!todo.empty()) {
    const auto [px, py] = todo.back();
    todo.pop_back();
    c.sum += map[at(px, py)];
    ++c.count;
    bool inside = true;
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dx = -1; dx <= 1; ++dx) {
        const int nx = px + dx, ny = py + dy;
        if (!is_text(nx, ny)) {
          inside = false;
        } else if (!seen[at(nx, ny)]) {
          seen[at(nx, ny)] = true;
          todo.emplace_back(nx, ny);
        }
      }
    }
    if (!inside) c.edge.push_back({static_cast<double>(px), static_cast<double>(py)});
  }
  return c;
}

double cross(Point o, Point a, Point b) { return (a.x - o.x) * (b.y - o.y) - (a.y - o.y) * (b.x - o.x); }

// Andrew's monotone chain: counter-clockwise, no three points on a line.
std::vector<Point> convex_hull(std::vector<Point> points) {
  std::sort(points.begin(), points.end(), [](Point a, Point b) { return a.x < b.x || (a.x == b.x && a.y < b.y); });
  std::vector<Point> hull;
  for (int side = 0; side < 2; ++side) {
    const size_t base = hull.size();
    for (const Point p : points) {
      while (hull.size() >= base + 2 && cross(hull[hull.size() - 2], hull.back(), p) <= 0) hull.pop_back();
      hull.push_back(p);
    }
    hull.pop_back();
    std::reverse(points.begin(), points.end());
  }
  return hull.empty() ? points : hull;
}

struct Rectangle {
  Point centre;
  double width = 0, height = 0;
  double angle = 0;  // of the width, radians
};

// The smallest rectangle around a hull has a side along one of the hull's edges.
Rectangle smallest_rectangle(const std::vector<Point>& hull) {
  Rectangle best;
  double best_area = INFINITY;
  for (size_t i = 0; i < hull.size(); ++i) {
    const Point a = hull[i], b = hull[(i + 1) % hull.size()];
    const double angle = std::atan2(b.y - a.y, b.x - a.x), cs = std::cos(angle), sn = std::sin(angle);
    double u0 = INFINITY, u1 = -INFINITY, v0 = INFINITY, v1 = -INFINITY;
    for (const Point p : hull) {
      const double u = p.x * cs + p.y * sn, v = -p.x * sn + p.y * cs;
      u0 = std::min(u0, u), u1 = std::max(u1, u), v0 = std::min(v0, v), v1 = std::max(v1, v);
    }
    const double w = u1 - u0 + 1, h = v1 - v0 + 1;  // pixels have a size
    if (w * h >= best_area) continue;
    best_area = w * h;
    const double u = (u0 + u1) / 2, v = (v0 + v1) / 2;
    best = {{u * cs - v * sn + 0.5, u * sn + v * cs + 0.5}, w, h, angle};
  }
  return best;
}

// Text runs along the side that is nearer to horizontal: turns the rectangle by quarters until that is its width.
Rectangle upright(Rectangle r) {
  constexpr double kQuarter = std::numbers::pi / 2;
  while (r.angle > kQuarter / 2) r.angle -= kQuarter, std::swap(r.width, r.height);
  while (r.angle < -kQuarter / 2) r.angle += kQuarter, std::swap(r.width, r.height);
  return r;
}

std::array<Point, 4> corners_of(const Rectangle& r) {
  const double cs = std::cos(r.angle), sn = std::sin(r.angle);
  std::array<Point, 4> corners;
  constexpr double kSigns[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
  for (size_t i = 0; i < 4; ++i) {
    const double u = kSigns[i][0] * r.width / 2, v = kSigns[i][1] * r.height / 2;
    corners[i] = {r.centre.x + u * cs - v * sn, r.centre.y + u * sn + v * cs};
  }
  return corners;
}

double distance(Point a, Point b) { return std::hypot(a.x - b.x, a.y - b.y); }

// Top to bottom; boxes whose middles are within half a line of each other, left to right.
void sort_by_reading(std::vector<TextBox>& boxes) {
  const auto middle = [](const TextBox& b) { return (b.corners[0].y + b.corners[3].y) / 2; };
  std::sort(boxes.begin(), boxes.end(), [&](const TextBox& a, const TextBox& b) { return middle(a) < middle(b); });
  for (size_t i = 1; i < boxes.size(); ++i) {
    for (size_t k = i; k > 0; --k) {
      const double line = distance(boxes[k].corners[0], boxes[k].corners[3]);
      const bool same_line = std::abs(middle(boxes[k]) - middle(boxes[k - 1])) < line / 2;
      if (!same_line || boxes[k].corners[0].x >= boxes[k - 1].corners[0].x) break;
      std::swap(boxes[k], boxes[k - 1]);
    }
  }
}

}  // namespace

std::vector<TextBox> find_boxes(const float* map, int width, int height, const BoxOptions& options) {
  std::vector<TextBox> boxes;
  std::vector<bool> seen(static_cast<size_t>(width) * static_cast<size_t>(height));
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const size_t at = static_cast<size_t>(y) * static_cast<size_t>(width) + static_cast<size_t>(x);
      if (seen[at] || !(map[at] > options.threshold)) continue;
      const Component c = flood(map, width, height, options.threshold, x, y, seen);
      const double score = c.sum / c.count;
      Rectangle r = smallest_rectangle(convex_hull(c.edge));
      if (score < options.min_score || std::min(r.width, r.height) < options.min_side) continue;
      const double grow = 2 * r.width * r.height * options.unclip / (2 * (r.width + r.height));
      r.width += grow;
      r.height += grow;
      boxes.push_back({corners_of(upright(r)), score});
    }
  }
  sort_by_reading(boxes);
  return boxes;
}

Image rectify(const Image& image, const TextBox& box) {
  const auto& [tl, tr, br, bl] = box.corners;
  const int width = std::max(1, static_cast<int>(std::lround(std::max(distance(tl, tr), distance(bl, br)))));
  const int height = std::max(1, static_cast<int>(std::lround(std::max(distance(tl, bl), distance(tr, br)))));
  Image out(width, height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const double u = (x + 0.5) / width, v = (y + 0.5) / height;
      const double px = tl.x + u * (tr.x - tl.x) + v * (bl.x - tl.x) - 0.5;
      const double py = tl.y + u * (tr.y - tl.y) + v * (bl.y - tl.y) - 0.5;
      const double cx = std::clamp(px, 0.0, image.width - 1.0), cy = std::clamp(py, 0.0, image.height - 1.0);
      const int x0 = static_cast<int>(cx), y0 = static_cast<int>(cy);
      const int x1 = std::min(x0 + 1, image.width - 1), y1 = std::min(y0 + 1, image.height - 1);
      const double fx = cx - x0, fy = cy - y0;
      for (int c = 0; c < 3; ++c) {
        const double top = image.at(x0, y0)[c] * (1 - fx) + image.at(x1, y0)[c] * fx;
        const double bottom = image.at(x0, y1)[c] * (1 - fx) + image.at(x1, y1)[c] * fx;
        out.at(x, y)[c] = static_cast<uint8_t>(std::lround(top * (1 - fy) + bottom * fy));
      }
    }
  }
  return out;
}

}  // namespace read_text
