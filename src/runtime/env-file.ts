/**
 * Loads `.env` if it exists, and lets the platform's addresses follow `SANDBOX_PORT`. Import this module first. Prints
 * nothing, since cron mails any output. A command with `--demo` uses what `npm run demo` uses: only the ports.
 */
import { existsSync, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { readDemoPorts } from './demo-ports.ts'
import { missingSandboxEnv } from './sandbox-env.ts'

const isDemo = process.argv.includes('--demo')
const isRead = existsSync('.env') && !isDemo

/** The names in `.env`, also of those that the environment overrides. */
export const namesInEnvFile: readonly string[] = isRead
  ? Object.keys(parseEnv(readFileSync('.env', 'utf8')))
  : []

if (isRead) process.loadEnvFile('.env')
if (isDemo) readDemoPorts()
Object.assign(process.env, missingSandboxEnv(process.env))
