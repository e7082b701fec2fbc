import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/**
 * The path of a program that tests need, or undefined when this machine does not have it. With `REQUIRE_ALL=1`, a missing program
 * is an error, so that no test is skipped unnoticed.
 */
export function program(...names: string[]): string | undefined {
  // Debian installs servers into /usr/sbin, which the PATH of most users lacks.
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
  const found = names.flatMap((name) => folders.map((folder) => join(folder, name))).find(runs)
  if (!found && process.env.REQUIRE_ALL === '1')
    throw new Error(`REQUIRE_ALL=1, but ${names[0]} is not installed`)
  return found
}

export const REDIS = program('redis-server')
/** The headless shell is the same engine without windows, and needs two thirds of the CPU time. */
export const CHROMIUM = program('chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome')

/** Only long tests need it. */
export const PROMETHEUS = process.env.LONG_TESTS ? program('prometheus') : undefined

/** A suffix for the name in `describe`: the reason why its tests can't run on this machine. */
export const withRedis = REDIS ? '' : ' (skipped: redis-server is not on this machine)'
export const withChromium = CHROMIUM ? '' : ' (skipped: Chromium is not on this machine)'

function runs(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
