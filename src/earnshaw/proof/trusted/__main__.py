"""Check certificates: ``python -m <this folder> [--limit FACTOR] FILE...``; exit status 0 only when all are verified.

A file whose name ends in .jsonl has one certificate a line.
"""

import sys

from . import check_file, check_lines


def main(paths: list[str]) -> int:
    """Print one line per certificate; return the exit status."""
    limit = 1.0
    try:
        if paths[:1] == ["--limit"]:
            limit, paths = float(paths[1]), paths[2:]
    except (IndexError, ValueError):
        paths = []
    if not paths:
        print("usage: python -m <checker> [--limit FACTOR] CERTIFICATE.json...", file=sys.stderr)
        return 2
    verified = True
    for path in paths:
        for accepted, _, sentence in check_lines(path, limit) if path.endswith(".jsonl") else [check_file(path, limit)]:
            print(f"{'VERIFIED' if accepted else 'REJECTED'} {sentence}", flush=True)
            verified = verified and accepted
    return 0 if verified else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
