"""Check certificate files: ``python -m <this folder> FILE...``; exit status 0 only when every file is verified."""

import sys

from . import check_file


def main(paths: list[str]) -> int:
    """Print one line per file; return the exit status."""
    if not paths:
        print("usage: python -m <checker> CERTIFICATE.json...", file=sys.stderr)
        return 2
    verified = 0
    for path in paths:
        accepted, _, sentence = check_file(path)
        print(f"{'VERIFIED' if accepted else 'REJECTED'} {sentence}", flush=True)
        verified += accepted
    return 0 if verified == len(paths) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
