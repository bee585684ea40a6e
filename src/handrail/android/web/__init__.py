"""Web pages inside the phone: found by their debugging sockets, read like pages of a browser.

Where a page can be asked, its nodes take the place of those that accessibility tells of its WebView.
"""
