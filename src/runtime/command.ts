import { Command } from 'commander'

/** A command of package.json: `npm run <name> -- …`. It prints its help with `--help` and after wrong arguments. */
export function createCommand(name: string, description: string): Command {
  return new Command(`npm run ${name} --`)
    .description(description)
    .showHelpAfterError()
    .allowExcessArguments(false)
    .configureHelp({ showGlobalOptions: false })
}
