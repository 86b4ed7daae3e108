// Bessel functions. Bounds in ulp of the larger of the result and 1: j0 5, j1 3, y0 16, y1 3, jn 16, yn 16; of the
// result: cyl_bessel_i0 and i1 8. Those of float are made of them and rounded once more.
//
// To 8 polynomials of x^2; beyond Hankel's form, sqrt(2 / (pi x)) (P cos(x - a) - Q sin(x - a)), where P and x Q are
// polynomials of (8 / x)^2.
#pragma once

#include "math_log_double.h"
#include "math_trig_double.h"

namespace trine_math {

// j0, j1 / x, and y0, y1 / x without their logarithm, of t = x^2 / 32 - 1 in [-1, 1].
TRINE_MATH double j0_near(double t) {
  return poly(t, 0.04582966485981377, 0.9303012472958572, -0.6484692830871837, -0.808088807669687, 1.0383794611437211,
              -0.507468045847102, 0.14598884856759273, -0.028472718610869578, 0.00405807898914049,
              -0.0004435459224727048, 3.847319785739127e-05, -2.7177491450676137e-06, 1.5956108859013866e-07,
              -7.915407670549364e-09, 3.3634718625333373e-10, -1.2384699153073492e-11, 3.990811966391986e-13,
              -1.1351277410243094e-14, 2.8780700417086955e-16, -6.5151500571157116e-18);
}
TRINE_MATH double j1_near(double t) {
  return poly(t, -0.05814382795599107, 0.08105866038589796, 0.15151665143806634, -0.2595948652859303,
              0.15858376432721938, -0.054745818212847276, 0.01245681439225544, -0.002029039494570245,
              0.0002494945813908964, -2.4045748660869658e-05, 1.8684525372339864e-06, -1.1967081644236786e-07,
              6.431268732317326e-09, -2.9430378824414127e-10, 1.1610655460712977e-11, -3.990810305586612e-13,
              1.2060729354963575e-14, -3.2382440004784723e-16, 7.737468840824268e-18);
}
TRINE_MATH double y0_near(double t) {
  return poly(t, -0.382250654459425, -0.8284358903604587, 1.6470964788745466, 0.14412632369302442, -1.0775477338215995,
              0.6721770783431723, -0.2189574709617165, 0.046367047681347105, -0.0070257410572698254,
              0.0008061586060550243, -7.279541882784653e-05, 5.321318633837175e-06, -3.2185077885022706e-07,
              1.6391065111246523e-08, -7.130516940301903e-10, 2.681836493410209e-11, -8.81052546459933e-13,
              2.550861655159015e-14, -6.574806994171116e-16, 1.5111118382094027e-17);
}
TRINE_MATH double y1_near(double t) {
  return poly(t, 0.07075985882118005, -0.24337743079193114, 0.023367571720993584, 0.23507209206669755,
              -0.19639839859930425, 0.07854786922242545, -0.01962875683309943, 0.003422490739918046,
              -0.00044381734351146775, 4.46743301291431e-05, -3.6009998744473813e-06, 2.3804929913922317e-07,
              -1.31533223991362e-08, 6.16974257301963e-10, -2.48876602241918e-11, 8.728846992741433e-13,
              -2.6871218482682002e-14, 7.320632021158841e-16, -1.7815800257405252e-17, 3.879779789058402e-19);
}

// P and Q of x = 8 / sqrt(u), of orders 0 and 1.
struct Hankel {
  double p, q;
};
TRINE_MATH Hankel hankel0(double u, double over_x) {
  return {poly(u, 1.0, -0.0010986328124996737, 2.738088367210925e-05, -2.183919034228364e-06, 3.6203309521173534e-07,
               -1.0239239991285941e-07, 4.3812698516604044e-08, -2.5395434404600186e-08, 1.7236203631456423e-08,
               -1.1558696461579817e-08, 6.567427583744966e-09, -2.7665349658558268e-09, 7.407863558784998e-10,
               -9.29540244708693e-11),
          over_x * poly(u, -0.12499999999999999, 0.0011444091796844857, -5.544628928009036e-05, 6.590752087383666e-06,
                        -1.4531181940492296e-06, 5.128257431965574e-07, -2.619389801844378e-07, 1.738598639373869e-07,
                        -1.294758179775837e-07, 9.196525551455919e-08, -5.40798879623974e-08, 2.326329561535314e-08,
                        -6.312757842328772e-09, 7.992208185039611e-10)};
}
TRINE_MATH Hankel hankel1(double u, double over_x) {
  return {poly(u, 1.0, 0.0018310546874996559, -3.5203993297701904e-05, 2.580995295001314e-06, -4.103048089140431e-07,
               1.1317408863913823e-07, -4.763576237721032e-08, 2.7310862271339776e-08, -1.8410150403133396e-08,
               1.229719716702473e-08, -6.971334048415056e-09, 2.932813230777702e-09, -7.846707061002526e-10,
               9.840821678448612e-11),
          over_x * poly(u, 0.375, -0.0016021728515593268, 6.776768693173265e-05, -7.6047144829333516e-06,
                        1.6240781447013697e-06, -5.61694136836811e-07, 2.8300006796479155e-07, -1.8612719875479017e-07,
                        1.3782740725415923e-07, -9.757592676638466e-08, 5.7271028826226886e-08, -2.4608376619829315e-08,
                        6.67306043217023e-09, -8.444427200072099e-10)};
}

// sin x + cos x and sin x - cos x over sqrt(pi x): what sines and cosines of x - pi/4 are made of.
struct Waves {
  double sum, difference, over_x, u;
};
TRINE_MATH Waves waves_of(double x) {
  double s, c;
  sincos(x, &s, &c);
  const double size = 0.5641895835477563 / sqrt(x), over_x = 1.0 / x;
  return {size * (s + c), size * (s - c), over_x, 64.0 * over_x * over_x};
}
TRINE_MATH double t_of(double a) { return fma(a * 0.03125, a, -1.0); }

TRINE_MATH double j0(double x) {
  const double a = fabs(x);
  const bool near = a <= 8.0;
  if (near) return j0_near(t_of(a));
  const Waves w = waves_of(a);
  const Hankel h = hankel0(w.u, w.over_x);
  return isinf(x) ? 0.0 : h.p * w.sum - h.q * w.difference;
}
TRINE_MATH double j1(double x) {
  const double a = fabs(x);
  if (a <= 8.0) return x * j1_near(t_of(a));
  const Waves w = waves_of(a);
  const Hankel h = hankel1(w.u, w.over_x);
  return isinf(x) ? mulsign(0.0, x) : mulsign(h.p * w.difference + h.q * w.sum, x);
}
// What Y is of arguments without one.
TRINE_MATH double y_edges(double x, double y) {
  y = x < 0.0 ? quiet_nan<double>() : x == 0.0 ? -infinity<double>() : y;
  return x == infinity<double>() ? 0.0 : isnan(x) ? x : y;
}
TRINE_MATH double y0(double x) {
  double y;
  if (x <= 8.0) {
    const double t = t_of(x);
    y = fma(0.6366197723675814 * log(x), j0_near(t), y0_near(t));
  } else {
    const Waves w = waves_of(x);
    const Hankel h = hankel0(w.u, w.over_x);
    y = h.p * w.difference + h.q * w.sum;
  }
  return y_edges(x, y);
}
TRINE_MATH double y1(double x) {
  double y;
  if (x <= 8.0) {
    const double t = t_of(x);
    const double tail = x * fma(0.6366197723675814 * log(x), j1_near(t), y1_near(t));
    y = tail - 0.6366197723675814 / x;
  } else {
    const Waves w = waves_of(x);
    const Hankel h = hankel1(w.u, w.over_x);
    y = h.q * w.difference - h.p * w.sum;
  }
  return y_edges(x, y);
}

// Upwards from orders 0 and 1, which is stable for n < x.
TRINE_MATH double upwards(int n, double x, double b0, double b1) {
  for (int k = 1; k < n; ++k) {
    const double next = (k + k) / x * b1 - b0;
    b0 = b1;
    b1 = next;
  }
  return b1;
}
// Downwards from an order where the function is nothing; 1 = J0 + 2 J2 + 2 J4 + ... tells the size (Miller).
TRINE_MATH double downwards(int n, double x) {
  const int start = 2 * ((n + static_cast<int>(sqrt(60.0 * n)) + 24) / 2);
  double above = 0.0, here = 0x1p-500, sum = 0.0, result = 0.0;
  for (int k = start; k > 0; --k) {
    const double below = (k + k) / x * here - above;
    above = here;
    here = below;
    if (fabs(here) > 0x1p500) {
      above *= 0x1p-600;
      here *= 0x1p-600;
      sum *= 0x1p-600;
      result *= 0x1p-600;
    }
    if (k - 1 == n) result = here;
    if ((k - 1) % 2 == 0) sum += k == 1 ? here : here + here;
  }
  return result / sum;
}
TRINE_MATH double jn(int n, double x) {
  const int order = n < 0 ? -n : n;
  const double a = fabs(x);
  double y = order == 0 ? j0(a) : j1(a);
  if (order > 1) {
    const bool plain = a > 0.0 && isfinite(a);
    if (!plain) y = isnan(x) ? x : 0.0;
    else if (a > order) y = upwards(order, a, j0(a), y);
    // As small as (x / 2)^n / n! there, which may be nothing.
    else y = a < 0x1p-300 ? 0.0 : downwards(order, a);
  }
  const bool turned = (order & 1) != 0 && (n < 0) != signbit(x);
  return turned ? -y : y;
}
TRINE_MATH double yn(int n, double x) {
  const int order = n < 0 ? -n : n;
  double y = order == 0 ? y0(x) : y1(x);
  if (order > 1 && x > 0.0 && isfinite(x)) {
    double b0 = y0(x);
    for (int k = 1; k < order && isfinite(y); ++k) {
      const double next = (k + k) / x * y - b0;
      b0 = y;
      y = next;
    }
  }
  return (order & 1) != 0 && n < 0 ? -y : y;
}

// To 8 the power series, whose terms have one sign; beyond e^x / sqrt(x) times a polynomial of 8 / x.
TRINE_MATH double scaled_exp(double a, double factor) {
  const Scaled e = exp_parts(a > 730.0 ? 730.0 : a, 0.0);
  return a > 730.0 ? infinity<double>() : scale(e.hi * (factor / sqrt(a)), e.n);
}
TRINE_MATH double cyl_bessel_i0(double x) {
  const double a = fabs(x), z = x * x, v = 8.0 / a;
  if (a <= 8.0)
    return poly(z, 1.0, 0.25, 0.015625, 0.00043402777777777775, 6.781684027777777e-06, 6.781684027777778e-08,
                4.709502797067901e-10, 2.4028075495244395e-12, 9.385966990329842e-15, 2.896903392077112e-17,
                7.242258480192779e-20, 1.4963343967340453e-22, 2.5978027721077174e-25, 3.842903509035085e-28,
                4.9016626390753635e-31, 5.4462918211948485e-34, 5.318644356635594e-37, 4.60090342269515e-40,
                3.5500798014623073e-43, 2.458504017633177e-46, 1.5365650110207356e-49, 8.71068600351891e-53,
                4.499321282809354e-56, 2.1263333094562166e-59, 9.228877211181495e-63);
  const double y = scaled_exp(
      a, poly(v, 0.3989422804014327, 0.006233473131274204, 0.0004382910791627048, 5.706918267114255e-05,
              1.0921983591388685e-05, 2.803580131430507e-06, 1.5997989030747754e-07, 9.662505089490398e-06,
              -9.059055340794059e-05, 0.0006721850550433317, -0.003871991245048551, 0.017606206452690155,
              -0.06384115205404386, 0.1858455431612519, -0.43586620432913853, 0.8240587907298232, -1.2529399670015462,
              1.5233891830580202, -1.4669542170657468, 1.102175595696986, -0.6315257426083565, 0.26625428220608377,
              -0.0778047210067278, 0.01407045109850318, -0.0011859710830350223));
  return isnan(x) ? x : y;
}
TRINE_MATH double cyl_bessel_i1(double x) {
  const double a = fabs(x), z = x * x, v = 8.0 / a;
  if (a <= 8.0)
    return x * poly(z, 0.5, 0.0625, 0.0026041666666666665, 5.425347222222222e-05, 6.781684027777778e-07,
                    5.651403356481481e-09, 3.363930569334215e-11, 1.5017547184527747e-13, 5.214426105738801e-16,
                    1.4484516960385557e-18, 3.2919356728148996e-21, 6.234726653058522e-24, 9.991549123491221e-27,
                    1.3724655389411017e-29, 1.6338875463584545e-32, 1.7019661941233902e-35, 1.564307163716351e-38,
                    1.2780287285264307e-41, 9.342315267006072e-45, 6.146260044082942e-48, 3.658488121477942e-51,
                    1.9797013644361157e-54, 9.781133223498595e-58, 4.4298610613671176e-61, 1.845775442236299e-64);
  const double y = scaled_exp(
      a, poly(v, 0.3989422804014327, -0.018700419393819136, -0.0007304851321576334, -7.989684582110704e-05,
              -1.4042832370394263e-05, -3.4212471047225815e-06, -2.6051388149549764e-07, -1.0449532995814464e-05,
              9.749011030042899e-05, -0.0007215837117112409, 0.004145567806762413, -0.018800162033206894,
              0.06799095186072494, -0.19741451252287015, 0.46183704064016656, -0.8710480215351347, 1.3213185371640241,
              -1.6029870692468409, 1.540380965906939, -1.1550643572244064, 0.66060442951592, -0.2780304140374893,
              0.08111395162055325, -0.014646641170475589, 0.0012327885636134986));
  return isnan(x) ? x : mulsign(y, x);
}

#define TRINE_FROM_DOUBLE(name) \
  TRINE_MATH float name(float x) { return static_cast<float>(name(static_cast<double>(x))); }
TRINE_FROM_DOUBLE(j0)
TRINE_FROM_DOUBLE(j1)
TRINE_FROM_DOUBLE(y0)
TRINE_FROM_DOUBLE(y1)
TRINE_FROM_DOUBLE(cyl_bessel_i0)
TRINE_FROM_DOUBLE(cyl_bessel_i1)
#undef TRINE_FROM_DOUBLE
TRINE_MATH float jn(int n, float x) { return static_cast<float>(jn(n, static_cast<double>(x))); }
TRINE_MATH float yn(int n, float x) { return static_cast<float>(yn(n, static_cast<double>(x))); }

}  // namespace trine_math
