"""Check certificates: ``python -m <this folder> [--limit FACTOR] FILE...``; exit status 0 only when all are verified."""

import sys

from . import check_file


def main(paths: list[str]) -> int:
    """Print one line per file; return the exit status."""
    limit = 1.0
    try:
        if paths[:1] == ["--limit"]:
            limit, paths = float(paths[1]), paths[2:]
    except (IndexError, ValueError):
        paths = []
    if not paths:
        print("usage: python -m <checker> [--limit FACTOR] CERTIFICATE.json...", file=sys.stderr)
        return 2
    verified = 0
    for path in paths:
        accepted, _, sentence = check_file(path, limit)
        print(f"{'VERIFIED' if accepted else 'REJECTED'} {sentence}", flush=True)
        verified += accepted
    return 0 if verified == len(paths) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
