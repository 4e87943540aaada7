"""Kasuwa: payments, cards, bills, loans and savings behind one API."""

__version__ = "0.1.0"
