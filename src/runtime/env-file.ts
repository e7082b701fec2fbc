/**
 * Loads `.env` if it exists, and lets the platform's addresses follow `SANDBOX_PORT`. Import this module first. Prints nothing,
 * since cron mails any output, unless the file cannot be read: then the program ends. A command with `--demo` uses the settings of `npm run demo`.
 */
import { loadEnvFile, missingSandboxEnv } from './load-env-file.ts'
import { printError } from './print.ts'

/** The names that were read from `.env`, including those that the environment overrides. */
export const namesInEnvFile: readonly string[] = load()

function load(): string[] {
  try {
    return loadEnvFile({ demo: process.argv.includes('--demo') })
  } catch (error) {
    printError(error instanceof Error ? error.message : String(error))
    process.exit(1)
  }
}

Object.assign(process.env, missingSandboxEnv(process.env))
