"""The dashboard. Start it with ``make app``.

A server imports this file for its ``app``, which runs the file as a script for every visitor.
"""

if __name__ == "__main__":
    from pages.shell import main

    main()
else:
    import logging

    import streamlit as st
    from starlette.middleware import Middleware

    from pages.gate import Gate, announced, redirects

    # Streamlit would treat the folder ``pages`` as an older kind of app, and show the first user of
    # /run that there is no such page.
    logging.disable(logging.WARNING)  # Streamlit warns here that there is no session
    st.navigation([lambda: None], position="hidden")
    logging.disable(logging.NOTSET)
    gate = [Middleware(Gate)]
    app = st.App(__file__, middleware=gate, lifespan=announced, routes=redirects())
