import { Command } from 'commander'
import type { StoreUnavailableError } from '../connect/errors.ts'

/**
 * Creates a command. `call`: what starts it, such as `npm run backup --` or `npm run feature -- NAME COMMAND`. Prints its help
 * with `--help` and after invalid arguments.
 */
export function createCommand(call: string, description: string): Command {
  return new Command(call)
    .description(description)
    .showHelpAfterError()
    .allowExcessArguments(false)
    .configureHelp({ showGlobalOptions: false })
}

/** What a command prints if the store fails. */
export const storeProblem = ({ reason }: StoreUnavailableError): string =>
  `The store is not available (${reason}). Check REDIS_URL and DATA_DIR.`
