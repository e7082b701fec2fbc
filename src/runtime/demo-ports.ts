import { existsSync, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'

/** The ports of the demo are those in `.env`, if there is one, unless the environment has others. It reads nothing else there. */
export function readDemoPorts(): void {
  if (!existsSync('.env')) return
  const { PORT, SANDBOX_PORT } = parseEnv(readFileSync('.env', 'utf8'))
  if (PORT) process.env.PORT ??= PORT
  if (SANDBOX_PORT) process.env.SANDBOX_PORT ??= SANDBOX_PORT
}
