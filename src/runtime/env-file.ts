/**
 * Loads `.env` if it exists, and lets the platform's addresses follow `SANDBOX_PORT`. Import this module first. Prints nothing,
 * since cron mails any output. A command with `--demo` uses the settings of `npm run demo`.
 */
import { loadEnvFile, missingSandboxEnv } from './load-env-file.ts'

/** The names that were read from `.env`, including those that the environment overrides. */
export const namesInEnvFile: readonly string[] = loadEnvFile({ demo: process.argv.includes('--demo') })

Object.assign(process.env, missingSandboxEnv(process.env))
