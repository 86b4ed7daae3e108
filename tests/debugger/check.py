"""Runs gdb over the transcript of docs/debugging.md: every command of it, and compares what gdb says.

  check.py --trine BIN --script trine.py --work FOLDER [--update]

Addresses, frame numbers and numbers of host threads may differ. With a gdb of another version than the transcript's,
only its essence is compared. --update writes what gdb says into the page. Status 77: no gdb here, or it may not trace.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parent.parent / "docs" / "debugging.md"
PROGRAM = "shift"
BLOCK = re.compile(r"(?<=```\n)\$ gdb .*?(?=```)", re.S)
NOISE = re.compile(r"\[Thread debugging using|Using host libthread_db|\[New Thread|\[Thread 0x|warning: Error disabling")
ESSENCE = ["Breakpoint 1, shift", "shift.cu:19", "$1 = (5, 0, 0)", "$2 = 5", "thread (40,0,0)", "$5 = (40, 0, 0)"]


def skip(why):
    print("skipped: " + why)
    sys.exit(77)


def transcript(gdb, script, work, commands):
    words = [gdb, "-nx", "-batch", "-iex", "set auto-load python-scripts off", "-ex", "set pagination off", "-ex", "set width 0", "-ex", "set breakpoint pending on",
             "-ex", "set style enabled off", "-ex", "source " + str(script)]
    for command in commands:
        words += ["-ex", "echo (gdb) %s\\n" % command, "-ex", command]
    environment = dict(os.environ, TRINE_DEVICE="cpu", LC_ALL="C", DEBUGINFOD_URLS="")
    done = subprocess.run(words + ["./" + PROGRAM], cwd=work, env=environment, text=True, timeout=120,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if re.search(r"ptrace: Operation not permitted|Could not trace the inferior|Cannot create process", done.stdout):
        skip("gdb may not trace programs here")
    lines = [line.rstrip() for line in done.stdout.splitlines() if not NOISE.match(line)]
    while lines and not lines[0].startswith("(gdb)"):
        lines.pop(0)
    return "\n".join(lines) + "\n"


def plain(text):
    text = re.sub(r"0x[0-9a-f]+", "0x", text)
    text = re.sub(r"^#\d+ +", "# ", text, flags=re.M)
    text = re.sub(r"host thread \d+", "host thread", text)
    text = re.sub(r"\[Inferior 1 \(process \d+\)", "[Inferior 1", text)
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--trine", required=True)
    parser.add_argument("--script", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--update", action="store_true")
    given = parser.parse_args()
    gdb = shutil.which("gdb")
    if not gdb:
        skip("no gdb here; scripts/install_deps.sh installs it")

    work = pathlib.Path(given.work)
    work.mkdir(parents=True, exist_ok=True)
    shutil.copy(HERE / (PROGRAM + ".cu"), work)
    subprocess.run([given.trine, "cc", "-g", PROGRAM + ".cu", "-o", PROGRAM], cwd=work, check=True)

    page = PAGE.read_text()
    known = BLOCK.search(page).group(0)
    commands = [line[6:] for line in known.splitlines() if line.startswith("(gdb) ")]
    said = "$ gdb %s\n" % PROGRAM + transcript(gdb, given.script, work, commands)
    if given.update:
        PAGE.write_text(BLOCK.sub(lambda _: said, page))
        return 0

    for part in ESSENCE:
        if part not in said:
            print("gdb did not say '%s':\n%s" % (part, said))
            return 1
    version = subprocess.run([gdb, "--version"], text=True, stdout=subprocess.PIPE).stdout.split("\n")[0]
    if not re.search(r" 13\.\d", version):
        print("passed, not compared line by line: %s" % version)
        return 0
    if plain(said) != plain(known):
        print("docs/debugging.md has:\n%s\ngdb said:\n%s\ncheck.py --update writes it" % (known, said))
        return 1
    print("passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
