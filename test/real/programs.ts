import { program } from '../support/programs.ts'

/** Only long tests need these. */
export const GLEWLWYD = process.env.LONG_TESTS ? program('glewlwyd') : undefined
export const FIREFOX = process.env.LONG_TESTS ? program('firefox-esr', 'firefox') : undefined
export const REDIS_SENTINEL = process.env.LONG_TESTS ? program('redis-sentinel') : undefined
export const NGINX = process.env.LONG_TESTS ? program('nginx') : undefined
export const CADDY = process.env.LONG_TESTS ? program('caddy') : undefined

/** For `describe`: names the reason when its tests cannot run here. */
export const withNginx = NGINX ? '' : ' (skipped: nginx is not on this machine)'
export const withCaddy = CADDY ? '' : ' (skipped: Caddy is not on this machine)'
export const withFirefox = FIREFOX ? '' : ' (skipped: Firefox is not on this machine)'
export const withSentinel = REDIS_SENTINEL ? '' : ' (skipped: redis-sentinel is not on this machine)'
export const withGlewlwyd = GLEWLWYD ? '' : ' (skipped: glewlwyd is not on this machine)'
