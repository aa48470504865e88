"""Mutants of the checker that no case can tell from it, with the argument for each group.

A group is an argument and patterns of names (``file function: old  =>  new``); a pattern that fits no mutant is an error, and
so is a mutant that survives and fits none.
"""

import re

BALL = r"(norm\(|point\.|least_eigenvalue|greatest_eigenvalue|value|proved|drift|overlap|turning|most|exact|lam|lip|gained|sample|bound)"

EXPLAINED: dict[str, list[str]] = {
    "Both sides are exact (integers, fractions, decimals, doubles, ends of balls), so that `not (a > b)` is `a <= b`.": [
        r"reading\.py \w+: .*  =>  not ",
        r"convexity\.py parse: .*  =>  not ",
        r"convexity\.py _check: (lam > 0|outer > 0|inner > 0|inner < outer)  =>  not ",
        r"convexity\.py _check: .*(sample\.(gradient|curvature)\(\)|change_bound|growth_bound).*  =>  not ",
        r"convnet\.py parse: copysign.*  =>  not ",
        r"convnet\.py Teacher\.__init__: (length|square) > 0  =>  not ",
        r"convnet\.py _tight: high <= nextafter.*  =>  not ",
        r"convnet\.py _radius: radius (>=|>) 0  =>  not ",
        r"relu\.py Point\.lipschitz: c > 0  =>  ",
        r"relu_claims\.py _prove_minimum: (inner <= outer|mu > 0|f_ge > 0|Decimal\(near\) <= Decimal\(far\))  =>  not ",
        r"relu_claims\.py \w+: .*(lipschitz|least_eigenvalue|greatest_eigenvalue|proved).*  =>  not ",
        r"relu_claims\.py _positive: number > 0  =>  not ",
        r"relu_claims\.py _(basin|robust): (nu|mu|f_ge) > 0  =>  not ",
    ],
    "One side is irrational, or a bound with a rounded end: equality would be a coincidence, and then < rejects one true double.": [
        r"convexity\.py _check: .* <= .*  =>  .* < ",
        r"convexity\.py _check: lam - change \* outer - growth \* outer \*\* 2 / 2 >= 0  =>  .* > 0",
        r"convnet\.py _check: overlap\(arb\((low|high)\)\) [<>] .*  =>  overlap\(arb\((low|high)\)\) [<>]= ",
        r"convnet\.py _check: arb\((step\) <=|nextafter\(step, inf\)\) >) most  =>  arb\((step|nextafter\(step, inf\))\) [<>]=? most",
        r"convnet\.py _check: arb\(high\) < arb\.pi\(\)  =>  arb\(high\) <= ",
        r"convnet\.py _nearest: 2 \* exact [<>] (below|above) \+ double  =>  2 \* exact [<>]= ",
        r"relu_claims\.py \w+: .* (<=|>=) .*" + BALL + r".*  =>  (?!not)",
        r"relu_claims\.py \w+: (norm\(|point\.|value|left|greatest_eigenvalue|arb\(everywhere\)).* <= .*  =>  .* < ",
        r"relu_claims\.py _robust: eps - lam \* inner .* < 0  =>  .* <= 0",
        r"relu_claims\.py _saddle: bent < curvature \* length  =>  bent <= ",
    ],
    "At 256 bits it takes a number that agrees with a double, or with pi, to 200 digits beyond it.": [
        r"convnet\.py \w+: .*  =>  not ",
        r"convnet\.py _check: (require\()?teacher\.margin <= 0.*  =>  (nothing|True)",
        r"convnet\.py _check: 0  =>  1",
    ],
    "The theorem holds as well: at equality the map still sends the closed ball into itself, and Z1 < 1 still follows.": [
        r"relu_claims\.py _saddle: step \+ .* < 0  =>  .* <= 0",
    ],
    "Caught again by what follows: a zero, a null, a size or a padding that cannot be leads to a division by it or to a shape that does not fit.": [
        r"convexity\.py parse: 1  =>  0",
        r"convnet\.py parse: 1  =>  0",
        r"reading\.py _problem: 1  =>  0",
        r"convexity\.py doubles: ",
        r"convexity\.py _check: (require\()?lam > 0",
        r"convexity\.py _check: (inner|mu) > 0  =>  inner >= 0",
        r"convexity\.py _check: 0  =>  -1",
        r"convexity\.py _check: gained > eps  =>  gained >= eps",
        r"convnet\.py Teacher\.__init__: (require\()?square > 0",
        r"convnet\.py Teacher\.__init__: 0  =>  -1",
        r"convnet\.py _check: 0 < low < high <= nextafter\(low, inf\)",
        r"convnet\.py _check: 0  =>  -1",
        r"convnet\.py _check: arb\(high\) < arb\.pi\(\)  =>  True",
        r"relu_claims\.py _\w+: mu > 0  =>  mu >= 0",
        r"relu_claims\.py _least: ",
        r"convexity\.py Sample\.__init__: .*(off|finite|isfinite)",
        r"convexity\.py Sample\.__init__: 1  =>  2",
    ],
    "The object is exact already, so that its midpoint, its ends and itself are the same (or it is no ball).": [
        r".*  =>  return _middle\(",
        r"relu\.py Point\.lipschitz: (bound\.upper\(\)|\(bend \* bend \+ turn \* turn\)\.sqrt\(\)\.upper\(\))  =>  ",
        r"balls\.py greatest_eigenvalue: (bound\.upper\(\)|\(product\[a, 0\] / weights\[a\]\)\.upper\(\))  =>  ",
        r"sums\.py greatest: \(-least\(.*\)\)\.upper\(\)  =>  ",
        r"relu_claims\.py guesses: ",
    ],
    "A rounding at 128 bits beside an error of 2^-53 that has been added: nothing of it is left at the precision that is used.": [
        r"convexity\.py Sample\.(curvature|change|fourth_moment): .*(upper|lower)\(\)  =>  ",
        r"sums\.py (slip|_symmetric): .*\.upper\(\)  =>  ",
    ],
    "Of second order: a factor 1 + 1e-13 on a bound of errors that is 1e-13 itself, where the bound has room (docs: lemmas 1 and 4).": [
        r"sums\.py gram: .*gamma\(terms\)",
        r"sums\.py gram: count \* len\(total\)  =>  ",
        r"sums\.py least: \(?1 \+ 2 \* UNIT",
        r"sums\.py least: 2 \* UNIT  =>  UNIT",
        r"sums\.py least: 2  =>  [13]",
        r"convexity\.py Sample\.fourth_moment: (8  =>  7|2 \* UNIT  =>  UNIT|2  =>  1)",
    ],
    "A term for underflow: it counts only on hardware that flushes to zero, and exceeds by far what gradual underflow loses.": [
        r"sums\.py .*TINY",
        r"sums\.py \w*: (1020  =>  |total\.size \* (len\(x\)|count)  =>  |count \*\* 2  =>  )",
        r"convexity\.py Sample\.fourth_moment: (self\.x\.size \* self\.d|2  =>  3|900  =>  )",
    ],
    "A guess, a block size or a working precision: a worse one loosens a bound, and none can make it wrong.": [
        r"balls\.py greatest_eigenvalue: (50  =>  |abs\(entry\)  =>  entry|0  =>  -1)",
        r"balls\.py least_eigenvalue: arb\(x\) if x else zero  =>  arb\(x\)",
        r"convexity\.py : (128|1024)  =>  ",
        r"convnet\.py : 256  =>  ",
        r"convexity\.py Sample\.curvature: 1  =>  2",
    ],
    "Both forms give the same number: a square is never negative, a list has one length, a start is replaced, a charge is +1 or -1.": [
        r"balls\.py root: (square > 0  =>  square >= 0|square\.abs_upper\(\)  =>  square\.upper\(\))",
        r"balls\.py exact: 0  =>  -1",
        r"relu\.py Point\.__init__: 0  =>  ",
        r"relu\.py Point\.__init__: p > 0  =>  ",
        r"relu\.py Point\.__init__: square > 0  =>  not ",
        r"relu\.py Point\.value: self\.charge\[a\] \* self\.charge\[b\]  =>  ",
        r"relu\.py Point\.(extension|lipschitz): True  =>  False",
        r"relu\.py Point\.diagonal_block: y != i",
        r"relu\.py Point\.lipschitz: (0  =>  -1|rho > 0  =>  not )",
        r"relu\.py _with: ",
        r"convnet\.py parse: (copysign\(1, number\) > 0  =>  copysign\(1, number\) >= 0|1  =>  2|0  =>  -1)",
        r"convnet\.py _check: True  =>  False",
        r"convnet\.py _radius: 0  =>  -1",
        r"convexity\.py Sample\.__init__: 0  =>  -1",
        r"reading\.py parse: 0  =>  ",
    ],
    "It bounds work, or words a reason, and decides nothing else.": [
        r"__init__\.py check_file: (1  =>  2|getattr\(.*)",
        r"reading\.py hex_float: ",
        r"reading\.py exact_keys: 40  =>  ",
        r"reading\.py load: large and sum",
    ],
}


def why(name: str) -> str | None:
    """Return the argument for a mutant, or None."""
    return next((argument for argument, patterns in EXPLAINED.items() for p in patterns if re.match(p, name)), None)
