curl --silent --show-error --fail-with-body --max-time 30 --header 'Accept: application/json' \
  --header "Authorization: Bearer $SERVICE_TOKENS_KEY" \
  'http://localhost:3000/internal/token?user=ann&bxcontext=harbour-homes'
