"""Report: self-contained pages from records and figures. Nothing is computed here."""

from earnshaw.report.page import Code, Figure, Folded, Page, Part, Section, Table, Text, write_page
from earnshaw.report.sections import Reproduced, computed_with, reproduction_section, sweep_page, sweep_sections

__all__ = ["Code", "Figure", "Folded", "Page", "Part", "Section", "Table", "Text", "write_page"]
__all__ += ["Reproduced", "computed_with", "reproduction_section", "sweep_page", "sweep_sections"]
