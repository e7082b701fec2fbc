/** Loads `.env` if there is one, and says nothing if not: a nightly job's output is mail. Import it first. */
import { existsSync } from 'node:fs'

if (existsSync('.env')) process.loadEnvFile('.env')
