import json, os, sys, urllib.error, urllib.parse, urllib.request

def token(user, bxcontext, rejected=None):
    query = urllib.parse.urlencode({"user": user, "bxcontext": bxcontext})
    request = urllib.request.Request(f"http://localhost:3000/internal/token?{query}")
    request.add_header("Accept", "application/json")
    request.add_header("Authorization", f"Bearer {os.environ['SERVICE_TOKENS_KEY']}")
    if rejected:
        request.add_header("X-Rejected-Token", rejected)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)

try:
    print(token("ann", "harbour-homes")["accessToken"])
except urllib.error.HTTPError as error:
    sys.exit(f"{error.code} {json.load(error)['code']}")
