import { Command } from 'commander'

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
