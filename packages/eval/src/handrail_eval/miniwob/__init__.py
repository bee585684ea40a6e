"""MiniWoB++: small web tasks that others wrote, with their own judge, run in a browser of ours."""
