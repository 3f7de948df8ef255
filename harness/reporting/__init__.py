"""What is shown: a page of tables, charts and notes, made once and written in any format.

page.py       Page, Table, Column, Chart, Note, and how numbers are written
formats.py    text, markdown, latex, csv, json, frame: one function each
html.py       the page as one HTML file; its sortable table, for the viewer too
charts.py     dots, bars, heat map, radar as SVG
"""

from harness.reporting.page import Chart as Chart
from harness.reporting.page import Column as Column
from harness.reporting.page import Note as Note
from harness.reporting.page import Page as Page
from harness.reporting.page import Table as Table
