"""How are near duplicates found and grouped among all pages of a crawl?"""
