"""What do visitors and programs see of a crawl?

A request goes through these modules in this order. The server fetches nothing from the web for a visitor: all
that it shows is read from the store.

    http_server      uvicorn, one process per worker, on one socket
    request_guard    refuses foreign hosts and clients that ask too often, adds headers of security, counts
    web_app          which function answers which path
    limits/          the threads that search and read, so that the event loop never waits; rates of clients
    served_index     the index, which follows the crawl from snapshot to snapshot
    searching/       the parameters of a URL → a query → the results as they are shown
    html_pages       results → HTML
    api/             results → JSON
    dialects/        results → JSON as clients of other search engines know it
    agents/          results → text for agents, by the Model Context Protocol
"""
