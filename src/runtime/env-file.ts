/**
 * Loads `.env` if it exists, and lets the platform's addresses follow `SANDBOX_PORT`. Import this module first. Prints
 * nothing, since cron mails any output. A command with `--demo` uses what `npm run demo` uses, which reads no `.env`.
 */
import { existsSync } from 'node:fs'
import { missingSandboxEnv } from './sandbox-env.ts'

if (existsSync('.env') && !process.argv.includes('--demo')) process.loadEnvFile('.env')
Object.assign(process.env, missingSandboxEnv(process.env))
