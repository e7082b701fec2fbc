/**
 * Loads `.env` if it exists, and derives the platform's addresses from `SANDBOX_PORT` if necessary. Import this module first. If it
 * can't read the file, it ends the program with a message. Otherwise it prints no output, which cron would email. A command with
 * `--demo` uses the settings of `npm run demo`.
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
