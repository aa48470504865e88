"""Report: self-contained pages from records and figures. Nothing is computed here."""

from earnshaw.report.folders import folder_page
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
    Tex,
    Text,
    write_page,
)
from earnshaw.report.reproduction import Reproduced, reproduction_section
from earnshaw.report.sweeps import Story, sweep_story
from earnshaw.report.telling import computed_with

__all__ = ["Card", "Cards", "latex_table"]
__all__ += ["Code", "Figure", "Folded", "Page", "Part", "Section", "Table", "Tex", "Text", "write_page"]
__all__ += ["Reproduced", "Story", "computed_with", "folder_page", "reproduction_section", "sweep_story"]
