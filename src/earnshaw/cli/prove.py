"""``earnshaw prove``, ``earnshaw check`` and ``earnshaw explain``."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from earnshaw.cli.console import BAD_USAGE, CLAIM_FAILED, FINE, bold, fail, json_line, note, progress_bar, say
from earnshaw.cli.helping import argument, begins, option
from earnshaw.cli.settings import FAMILIES, FAMILY_NAMES, ClusterOption, family_sizes
from earnshaw.errors import InputError

if TYPE_CHECKING:
    from earnshaw.experiments import Target
    from earnshaw.proof import Proof

PROVE_EXAMPLES = (
    "earnshaw sweep -k 7 --out runs/seven",
    "earnshaw prove runs/seven --out certs",
    "earnshaw prove points.npz --out certs --json",
    "earnshaw prove points.npz --every-n --out certs",
    "earnshaw prove --family II -k 1000000 --out certs",
    "earnshaw prove --family 2B --family M:4 -k 14..20 --out certs",
    "earnshaw prove --family II --every-k --out certs",
    "earnshaw prove points.npz --paper-chain",
    "earnshaw prove --filter w.npy --outputs a.npy --out certs",
)
CHECK_EXAMPLES = ("earnshaw check certs", "earnshaw check atlas", "earnshaw check runs/seven certs/*.json --json")
EXPLAIN_EXAMPLES = ("earnshaw explain certs/k7-n7-family000-0a1b2c3d-minimum.json", "earnshaw explain certs")
SOURCE_HELP = "Run folders, certificates, or .npz files of points: an array weights, and optionally a teacher."
FOLDER_HELP = "Folder for certificates; added to if it exists."
FILTER_HELP = "Prove one convolutional network instead: its filter w*."
OUTPUTS_HELP = "Its output weights a*, one for each patch."
FAMILY_HELP = f"Prove a family of critical points instead, by name: {FAMILY_NAMES}."
SIZE_HELP = (
    "With --family: teacher neurons, 1000000, or a range 7..20; with --every-k the first k (default: 6, for B 7)."
)
EVERY_K_HELP = "With --family II, A or B: one proof for every k, from the first to infinity."
PRECISION_HELP = "Bits of the ball arithmetic (default: 128; more for a family of large k; 256 with --filter)."
CHAIN_HELP = "Show what the first paper's own chain of bounds gives instead; no proof."
EVERY_N_HELP = "Prove that more neurons do not remove the minimum: spurious minima for every n' >= n."
LINES = ".jsonl"  # of files with one certificate a line
FIGURE_HELP = "As FILE.png and FILE.svg: with --every-n the loss around the first such minimum, with --every-k what is proved over k."
CHECKED_HELP = "Check also what takes more than about ten seconds."
Files = Annotated[list[Path], argument("FILE", "Certificates, folders of them, or run folders that have some.")]


def prove(
    sources: Annotated[list[Path] | None, argument("SOURCE", SOURCE_HELP)] = None,
    out_folder: Annotated[Path | None, option(FOLDER_HELP, "--out", metavar="DIR")] = None,
    filter_file: Annotated[Path | None, option(FILTER_HELP, "--filter", metavar="W.npy")] = None,
    outputs_file: Annotated[Path | None, option(OUTPUTS_HELP, "--outputs", metavar="A.npy")] = None,
    families: Annotated[
        list[str] | None, option(FAMILY_HELP, "--family", metavar="NAME", autocompletion=begins(FAMILIES))
    ] = None,
    sizes: Annotated[str | None, option(SIZE_HELP, "-k", metavar="K")] = None,
    every_k: Annotated[bool, option(EVERY_K_HELP, "--every-k")] = False,
    precision: Annotated[int | None, option(PRECISION_HELP, min=64, max=1024)] = None,
    workers: Annotated[int | None, option("Processes (default: one a core when that pays).")] = None,
    cluster: ClusterOption = None,
    every_n: Annotated[bool, option(EVERY_N_HELP, "--every-n")] = False,
    figure: Annotated[Path | None, option(FIGURE_HELP, "--figure", metavar="FILE")] = None,
    paper_chain: Annotated[bool, option(CHAIN_HELP, "--paper-chain")] = False,
    as_json: Annotated[bool, option("One JSON object per point, and nothing else.", "--json")] = False,
) -> None:
    """Prove with ball arithmetic what lies at points, and write certificates.

    Points of ReLU networks are spurious local minima, or saddles; each is polished by Newton's method first. For a minimum
    up to three certificates are written: minimum (it exists, is strict, spurious, and where), basin (from where gradient
    descent provably reaches it) and robust (for how different a teacher it survives); with --every-n a fourth, every_n, where
    splitting some neuron opens no way down. A family by name is proved from a handful of numbers, at any k, as a certificate
    of kind blocks or blocks_saddle; with --every-k for every k at once, of kind every_k. Of a convolutional network all stationary points are proved at once. Exit code 1 says
    that some point stayed inconclusive.
    """
    from earnshaw.experiments import prove_targets, targets
    from earnshaw.proof import prove_every_k, prove_family

    asked = _families(families, sizes, sources, filter_file, every_n or paper_chain, every_k)
    if every_k and precision is not None:
        raise InputError("--every-k sets its precision itself; leave out --precision")
    if (filter_file is None) != (outputs_file is None):
        raise InputError("--filter and --outputs belong together; give the .npy files of both w* and a*")
    if (filter_file is None) == (not sources) and not asked:
        raise InputError(
            "give run folders or .npz files as SOURCE, or --family and -k, or --filter and --outputs: one of them"
        )
    if cluster is not None and (not sources or paper_chain):
        raise InputError("--cluster proves the points of SOURCE; leave it out")
    if every_n and (filter_file is not None or paper_chain):
        raise InputError("--every-n is about points of ReLU networks; leave out --filter, --outputs and --paper-chain")
    if figure is not None and not every_n and not every_k:
        raise InputError("--figure draws what --every-n or --every-k proves; add one of them")
    points = [target for source in sources or [] for target in targets(source)]
    if sources and not points:
        raise InputError(
            "there is nothing to prove: the sources hold no points (no run ended away from the global minimum)"
        )
    if paper_chain:
        _paper_chain(points, as_json)
        return
    if out_folder is None:
        raise InputError("certificates need a folder; use --out DIR")
    try:
        out_folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {out_folder} ({error.strerror}); choose another --out") from None
    proofs: list[Proof] = []
    with progress_bar("prove") as progress:

        def finished(stem: str, source: str, index: int, proof: Proof) -> None:
            proofs.append(proof)
            paths = proof.save_all(out_folder, stem)
            if as_json:
                json_line(proof.report(source, index, next(iter(paths.values()), None)))
            else:
                named = f"  {proof.family}" if proof.family else ""
                say(f"{bold(stem)}  {proof.verdict.name}{named}", markup=True)
                say(f"    {proof.words}")
                if every_n and "every_n" not in proof.certificates and proof.main is not None:
                    say(f"    {proof.reason}")
            progress(len(proofs) / max(len(points) + len(asked), 1), stem)

        if asked:
            for family, k in asked:
                if every_k or k is None:
                    proof = prove_every_k(family, k)
                    first = proof.sizes["first"]
                    finished(f"{family}-from-k{first}", family, first, proof)
                    continue
                finished(f"{family.replace(':', '')}-k{k}", family, k, prove_family(family, k, precision=precision))
        elif filter_file is not None and outputs_file is not None:
            finished(*_convnet(filter_file, outputs_file, precision))
        else:
            prove_targets(
                points,
                workers,
                precision,
                lambda at, proof: finished(at.stem, at.source, at.index, proof),
                every_n,
                cluster,
            )
    undecided = sum(proof.main is None for proof in proofs)
    if not as_json:
        decided = f"{len(proofs) - undecided} of {len(proofs)} points decided"
        say(f"{decided}; certificates in {bold(out_folder)}", markup=True)
    if undecided:
        fail(f"{undecided} of {len(proofs)} points are inconclusive; the reason says what would help")
    if figure is not None and every_k:
        _course_figure(proofs, figure)
    elif figure is not None:
        _split_figure(points, proofs, figure)
    short = sum("every_n" not in proof.certificates for proof in proofs)
    if every_n and short:
        fail(
            f"for {short} of {len(proofs)} points it is not proved that every n has a spurious minimum; the reason says why"
        )


def _families(
    families: list[str] | None,
    sizes: str | None,
    sources: list[Path] | None,
    filter_file: Path | None,
    other: bool,
    every_k: bool,
) -> list[tuple[str, int | None]]:
    """Return the families and sizes (with ``every_k`` the first k, if given) to be proved, which exist, or raise InputError."""
    from earnshaw.problems import named_family

    if every_k and not families:
        raise InputError("--every-k is about a family; write for example --family II --every-k")
    if not every_k and (families is None or not families) != (sizes is None):
        raise InputError("--family and -k belong together; write for example --family II -k 1000")
    if not families:
        return []
    if sources or filter_file is not None or other:
        raise InputError("--family is proved on its own; leave out SOURCE, --filter, --every-n and --paper-chain")
    ks = [None] if sizes is None else family_sizes(sizes)
    if every_k and len(ks) != 1:
        raise InputError(f"-k is {sizes}; with --every-k give one number, the first k")
    asked = [(named_family(name), k) for name in families for k in ks]
    for family, k in asked:
        if k is not None:
            family.sizes(k)
    return [(family.name, k) for family, k in asked]


def _split_figure(points: list[Target], proofs: list[Proof], path: Path) -> None:
    """Draw the first point that is proved for every n; without one nothing is drawn, and the exit code says so."""
    from earnshaw.experiments.splits import split_scene
    from earnshaw.plots.ladders import split_figure
    from earnshaw.problems import TwoLayer

    for target, proof in zip(points, proofs, strict=True):
        if "every_n" in proof.certificates and isinstance(target.problem, TwoLayer):
            split_figure(split_scene(proof, target.problem), path)
            return


def _course_figure(proofs: list[Proof], path: Path) -> None:
    """Draw what is proved over k."""
    from earnshaw.plots import course_figure
    from earnshaw.proof import course

    course_figure([course(proof.certificate) for proof in proofs], path)


def _convnet(filter_file: Path, outputs_file: Path, precision: int | None) -> tuple[str, str, int, Proof]:
    """Prove one convolutional network; return the stem of its certificate, its source, its index and the proof."""
    from earnshaw.problems import ConvNet
    from earnshaw.proof import prove as prove_problem
    from earnshaw.store import read_npy

    problem = ConvNet(read_npy(filter_file, "the filter"), read_npy(outputs_file, "the output weights"))
    proof = prove_problem(problem, **({} if precision is None else {"precision": precision}))
    return f"{filter_file.stem}-{problem.name}-{problem.digest[:8]}", str(filter_file), 0, proof


def _paper_chain(points: list[Target], as_json: bool) -> None:
    """Show the numbers of the first paper's chain at points as they are."""
    from earnshaw.proof import follow_paper
    from earnshaw.proof.trusted.balls import shown

    if not points:
        raise InputError("the paper's chain is about ReLU networks; give run folders or .npz files of those as SOURCE")
    held = True
    for point in points:
        chain = follow_paper(point.problem, point.weights)
        held &= chain.holds
        if as_json:
            numbers = dataclasses.asdict(chain) | {"is_proof": False}
            json_line({"source": point.source, "index": point.index, **point.problem.sizes, **numbers})
            continue
        numbers = [
            f"gradient <= {shown(chain.gradient_le, up=True)}",
            f"smallest eigenvalue >= {shown(chain.eigenvalue_printed, up=False)} as printed, "
            f"{shown(chain.eigenvalue_corrected, up=False)} corrected",
        ]
        if chain.radius is not None and chain.objective_ge is not None:
            numbers.append(f"within {shown(chain.radius, up=True)}, loss >= {shown(chain.objective_ge, up=False)}")
        say(f"{bold(point.stem)}  the paper's chain {'holds' if chain.holds else 'does not hold'}", markup=True)
        say(f"    {', '.join(numbers)}")
    note(
        "this is the first paper's own chain, with its errors (docs/errata.md), and not a proof; leave out --paper-chain to prove"
    )
    if not held:
        raise typer.Exit(CLAIM_FAILED)


def check(
    files: Files,
    limit: Annotated[
        float, option("Check what costs up to so many times more than usual.", "--limit", metavar="FACTOR")
    ] = 1.0,
    as_json: Annotated[bool, option("One JSON object per file, and nothing else.", "--json")] = False,
) -> None:
    """Check certificates with the trusted checker: everything is recomputed, nothing in the file is believed.

    Of a file of the atlas (.jsonl), which has one certificate a line, only those that are rejected are shown, and a count.
    Exit code 0 only when every file is verified. The checker is the folder earnshaw/proof/trusted: copy it anywhere and
    run it with python -m.
    """
    from earnshaw.proof import check as check_file
    from earnshaw.proof import check_lines

    paths, code = _certificates(files)
    for path in paths:
        many, verified, count = path.suffix == LINES, 0, 0
        for result in check_lines(path, limit) if many else [check_file(path, limit)]:
            verified, count = verified + result.verified, count + 1
            if as_json:
                json_line(result.report())
            elif not (many and result.verified):
                say(f"{result.file}: {result}")
        code = code if verified == count else CLAIM_FAILED
        if many and not as_json:
            say(f"{path}: {verified} of {count} certificates VERIFIED")
    raise typer.Exit(code)


def _certificates(files: list[Path], odd: bool = True, many: bool = True) -> tuple[list[Path], int]:
    """Return files as they are and the certificates of folders, and the exit code: 2 if something is wrong with a folder.

    What is wrong is said: there is no certificate, or one that a run folder lists is missing or another (``odd``: such
    ones are returned, too). ``many``: files of many certificates, one a line, are returned as well.
    """
    paths, code = list[Path](), FINE
    for given in files:
        found, faults = _held(given)
        for fault in faults.values():
            note(f"error: {fault}")
            code = BAD_USAGE
        paths += [path for path in found if (odd or path not in faults) and (many or path.suffix != LINES)]
    return paths, code


def _held(given: Path) -> tuple[list[Path], dict[Path, str]]:
    """Return the certificates of a folder, and its faults; those of a run folder are in a folder of their own."""
    from earnshaw.store import sealed_certificates

    if not given.is_dir():
        return [given], {}
    try:
        faults = {path: fault for path, fault in sealed_certificates(given).items() if fault}
    except InputError as error:
        faults = {given: str(error)}
    inside = given / "certificates"
    is_run = any((given / name).exists() for name in ("certificates", "pieces", "manifest.json"))
    found = sorted(path for path in (inside if is_run else given).glob("*.json*") if path.suffix in (".json", LINES))
    if not found and not faults:
        faults[given] = f"the folder {given} holds no certificates; give some, or a folder that earnshaw prove wrote"
    return found, faults


def explain(
    files: Files,
    latex: Annotated[bool, option("Only the LaTeX.", "--latex")] = False,
    checked: Annotated[bool, option(CHECKED_HELP, "--check")] = False,
) -> None:
    """Say in words, and as LaTeX, which theorem a certificate proves, once the trusted checker has verified it.

    Exit code 1 says that some certificate was REJECTED, or NOT CHECKED.
    """
    from earnshaw.proof import explain as explain_file

    paths, code = _certificates(files, odd=False, many=False)
    for path in paths:
        explanation = explain_file(path, checked)
        if not explanation.verified:
            code = CLAIM_FAILED
            say(f"{'% ' * latex}{path}: {explanation.words}{' by --check' * (explanation.verified is None)}")
            continue
        if len(paths) > 1:
            say(f"{'%' if latex else '#'} {path}")
        if not latex:
            say(explanation.words)
            say("")
        say(explanation.latex)
    raise typer.Exit(code)
