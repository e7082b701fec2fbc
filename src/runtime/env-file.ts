/**
 * Loads `.env` if it exists. Import this module first. Prints nothing, since cron mails any output. A command with
 * `--demo` uses what `npm run demo` uses, which reads no `.env`.
 */
import { existsSync } from 'node:fs'

if (existsSync('.env') && !process.argv.includes('--demo')) process.loadEnvFile('.env')
