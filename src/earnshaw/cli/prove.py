"""``earnshaw prove``, ``earnshaw check`` and ``earnshaw explain``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from earnshaw.cli.console import CLAIM_FAILED, json_line, note, out, progress_bar, user_errors
from earnshaw.cli.helping import examples
from earnshaw.errors import InputError

if TYPE_CHECKING:
    from earnshaw.experiments import Target
    from earnshaw.proof import Proof

PROVE_EXAMPLES = examples(
    "earnshaw sweep -k 7 --out runs/seven",
    "earnshaw prove runs/seven --out certs",
    "earnshaw prove points.npz --out certs --json",
)
CHECK_EXAMPLES = examples("earnshaw check certs/*.json", "earnshaw check certs/*.json --json")
EXPLAIN_EXAMPLES = examples("earnshaw explain certs/k7-n7-family000-0a1b2c3d-minimum.json")


def prove(
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="SOURCE",
            help="Run folders of sweeps, or .npz files of points: an array weights, and optionally a teacher.",
        ),
    ],
    out_folder: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Folder for certificates; added to if it exists.")
    ],
    precision: Annotated[int, typer.Option(min=64, max=1024, help="Bits of the ball arithmetic.")] = 128,
    workers: Annotated[int | None, typer.Option(help="Processes (default: one a core when that pays).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per point, and nothing else.")] = False,
) -> None:
    """Prove with ball arithmetic that points are spurious local minima, or saddles, and write certificates.

    Each point is polished by Newton's method first. For a minimum up to three certificates are written: minimum (it
    exists, is strict, spurious, and where), basin (from where gradient descent provably reaches it) and robust (for how
    different a teacher it survives). Exit code 1 says that some point stayed inconclusive.
    """
    with user_errors():
        from earnshaw.experiments import prove_targets, targets

        points = [target for source in sources for target in targets(source)]
        if not points:
            raise InputError(
                "there is nothing to prove: the sources hold no points (no run ended away from the global minimum)"
            )
        try:
            out_folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot make the folder {out_folder} ({error.strerror}); choose another --out") from None
        done = 0
        with progress_bar("prove") as progress:

            def reported(point: Target, proof: Proof) -> None:
                nonlocal done
                done += 1
                paths = proof.save_all(out_folder, point.stem)
                main = paths.get("minimum") or paths.get("saddle")
                if as_json:
                    json_line(proof.report(point.source, point.index, main))
                else:
                    _show(point, proof)
                progress(done / len(points), point.stem)

            proofs = prove_targets(points, workers, precision, reported)
        undecided = sum(proof.main is None for proof in proofs)
        if not as_json:
            out.print(
                f"{len(proofs) - undecided} of {len(proofs)} points decided; certificates in [bold]{out_folder}[/]",
                soft_wrap=True,
            )
        if undecided:
            note(f"{undecided} of {len(proofs)} points are inconclusive; the reason says what would help")
            raise typer.Exit(CLAIM_FAILED)


def _show(point: Target, proof: Proof) -> None:
    out.print(f"[bold]{point.stem}[/]  {proof.verdict.name}", soft_wrap=True)
    from earnshaw.proof.trusted.relu_claims import shown

    numbers = (  # rounded to the safe side
        ("smallest eigenvalue >=", proof.lambda_min_ge, False),
        ("a curvature <=", proof.curvature_le, True),
        ("loss >=", proof.objective_ge, False),
        ("within", proof.enclosure_radius, True),
        ("unique within", proof.unique_radius, False),
        ("basin", proof.basin_radius, False),
        ("teacher may move", proof.teacher_radius, False),
    )
    parts = [f"{name} {shown(value, up=up)}" for name, value, up in numbers if value is not None]
    if proof.every_dimension:
        parts.append("in every dimension")
    out.print(f"    {', '.join(parts) or proof.reason}", soft_wrap=True, markup=False)


def check(
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="Certificates, or folders of them.")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per file, and nothing else.")] = False,
) -> None:
    """Check certificates with the trusted checker: everything is recomputed, nothing in the file is believed.

    Exit code 0 only when every file is verified. The checker is the folder earnshaw/proof/trusted: copy it anywhere and
    run it with python -m.
    """
    with user_errors():
        from earnshaw.proof import check as check_file

        good = True
        for path in (file for given in files for file in _certificates(given)):
            result = check_file(path)
            good &= result.verified
            if as_json:
                json_line(result.report())
            else:
                out.print(f"{path}: {result}", soft_wrap=True, markup=False)
        raise typer.Exit(0 if good else CLAIM_FAILED)


def _certificates(given: Path) -> list[Path]:
    """Return a file as it is, and the certificates of a folder."""
    if not given.is_dir():
        return [given]
    found = sorted(given.glob("*.json"))
    if not found:
        raise InputError(f"the folder {given} holds no .json file; give certificates, or a folder that prove wrote")
    return found


def explain(
    certificate: Annotated[Path, typer.Argument(metavar="CERT", help="A certificate.")],
    latex: Annotated[bool, typer.Option("--latex", help="Only the LaTeX.")] = False,
) -> None:
    """Say in words, and as LaTeX, which theorem a certificate proves (it is not checked by this command)."""
    with user_errors():
        from earnshaw.proof import explain as explain_file

        explanation = explain_file(certificate)
        if not latex:
            out.print(explanation.words, soft_wrap=True, markup=False)
            out.print()
        out.print(explanation.latex, soft_wrap=True, markup=False)
