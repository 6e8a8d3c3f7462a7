"""How does cron run a crawl?"""
