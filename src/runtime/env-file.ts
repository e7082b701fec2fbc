/** Loads `.env` if it exists. Import this module first. Prints nothing, since cron mails any output. */
import { existsSync } from 'node:fs'

if (existsSync('.env')) process.loadEnvFile('.env')
