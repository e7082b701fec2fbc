import { program } from '../support/programs.ts'

/** Only long tests need these. */
export const REDIS_SENTINEL = program('redis-sentinel')
export const NGINX = program('nginx')
export const CADDY = program('caddy')

/** A suffix for the name in `describe`: the reason why its tests can't run on this machine. */
export const withNginx = NGINX ? '' : ' (skipped: nginx is not on this machine)'
export const withCaddy = CADDY ? '' : ' (skipped: Caddy is not on this machine)'
export const withSentinel = REDIS_SENTINEL ? '' : ' (skipped: redis-sentinel is not on this machine)'
