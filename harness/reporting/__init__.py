"""What is shown: a page of tables, charts and notes, made once and written in any format.

page.py         Page, Table, Column, Chart, Note, and how numbers are written
formats.py      text, markdown, csv, json, frame: one function each
html.py         the page as one HTML file; its sortable table, for the viewer too
charts.py       dots and bars, heat map, radar as SVG, from the rows and columns of a table
templates.py    fills in the HTML and SVG of templates/

show_result.py  from flags to a page; pages.py has pages by name, with their checks
selecting.py    which judgments the flags ask for, and how to show them
section.py      one kind of judgments, ready for a page: rows, tables, what it says
ranked.py       columns of verdicts ranked, one or several side by side
kinds.py        what grades, labels, pairs and votes each add to that
outcome.py      who is better, in words
results_page.py sections as one page; the pages of other flags have a module each, or
                other_pages.py
people.py       how often judges decide as people do, in words
remarks.py      who says otherwise, what is not judged; causes.py: why judgments are missing
"""

from harness.reporting.page import Cell as Cell
from harness.reporting.page import Chart as Chart
from harness.reporting.page import Column as Column
from harness.reporting.page import Note as Note
from harness.reporting.page import Page as Page
from harness.reporting.page import Table as Table
from harness.reporting.page import interval_columns as interval_columns
from harness.reporting.page import row_of as row_of
