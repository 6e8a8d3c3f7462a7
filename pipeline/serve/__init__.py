"""What do visitors and programs see of a crawl?

A request takes this way. Nothing here fetches anything for a visitor: all that is shown lies in the store.

    http_server      uvicorn, one process per worker, on one socket
    request_guard    refuses foreign hosts, adds the headers of security, counts
    web_app          which path is answered by which function
    work_lane        the threads that search and read, so that the event loop never waits for them
    served_index     the index, which follows the crawl from snapshot to snapshot
    searching/       the parameters of a URL → a query → the results as they are shown
    html_pages       results → HTML
    api/             results → JSON
"""
