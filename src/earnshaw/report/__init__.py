"""Report: self-contained pages from records and figures. Nothing is computed here."""

from earnshaw.report.latex import latex_table
from earnshaw.report.page import (
    Card,
    Cards,
    Code,
    Figure,
    Folded,
    Page,
    Part,
    Section,
    Table,
    Text,
    write_page,
)
from earnshaw.report.sections import Reproduced, Story, computed_with, reproduction_section, sweep_page, sweep_story

__all__ = ["Card", "Cards", "latex_table"]
__all__ += ["Code", "Figure", "Folded", "Page", "Part", "Section", "Table", "Text", "write_page"]
__all__ += ["Reproduced", "Story", "computed_with", "reproduction_section", "sweep_page", "sweep_story"]
