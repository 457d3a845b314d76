"""Writes the page of question and confirm protocols that `codev init` installs, from its source."""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "src" / "porch" / "integration" / "codument-protocols.md"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the page; else compare it")
    args = parser.parse_args()
    from porch.claims.questions.protocol_texts import render_protocol_page

    page = render_protocol_page()
    if args.write:
        FILE.write_text(page, encoding="utf-8")
        return 0
    if FILE.read_text(encoding="utf-8") == page:
        return 0
    print(f"{FILE.relative_to(ROOT)} is out of date: run tools/protocol_texts.py --write")
    return 1


if __name__ == "__main__":
    sys.exit(main())
