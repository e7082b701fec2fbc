/**
 * Loads `.env` if it exists (with `--demo`, as in `npm run demo`), and derives missing platform addresses from `SANDBOX_PORT`.
 * Import this module first. It is silent, because cron emails output, but ends the program if it can't read the file.
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
