import { Command } from 'commander'

/** Creates a command run by `npm run <name> -- …`. Prints its help with `--help` and after invalid arguments. */
export function createCommand(name: string, description: string): Command {
  return new Command(`npm run ${name} --`)
    .description(description)
    .showHelpAfterError()
    .allowExcessArguments(false)
    .configureHelp({ showGlobalOptions: false })
}
