import { Command } from 'commander'
import type { StoreUnavailableError } from '../connect/errors.ts'

/** Creates a command run by `npm run <name> -- …`. Prints its help with `--help` and after invalid arguments. */
export function createCommand(name: string, description: string): Command {
  return new Command(`npm run ${name} --`)
    .description(description)
    .showHelpAfterError()
    .allowExcessArguments(false)
    .configureHelp({ showGlobalOptions: false })
}

/** What a command prints if the store fails. */
export const storeProblem = ({ reason }: StoreUnavailableError): string =>
  `The store is not available (${reason}). Check REDIS_URL and DATA_DIR.`
