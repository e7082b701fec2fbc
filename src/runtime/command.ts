import { Command } from 'commander'
import { fail } from './serve.ts'

class OurCommand extends Command {
  override parse(): this {
    this.#failIfKeptByNpm()
    return super.parse()
  }

  override async parseAsync(): Promise<this> {
    this.#failIfKeptByNpm()
    return super.parseAsync().catch(fail)
  }

  /** Without `--`, npm takes the options for itself, and puts them into the environment. */
  #failIfKeptByNpm(): void {
    const options = [this, ...this.commands].flatMap((command) => command.options)
    const kept = options.find(({ long }) => {
      const isGiven = process.argv.some((argument) => argument.split('=')[0] === long)
      return !isGiven && process.env[`npm_config_${long?.slice(2).replaceAll('-', '_')}`]
    })
    if (kept)
      fail(`npm has kept ${kept.long} for itself. Add -- before the arguments: ${this.name()} ${kept.flags}`)
  }
}

/**
 * Creates a command. `call`: how to start it, such as `npm run backup --` or `npm run feature -- NAME COMMAND`. It prints its help
 * for `--help` and after invalid arguments. If its action throws, `parseAsync` prints the message and exits with 1.
 */
export function createCommand(call: string, description: string): Command {
  return new OurCommand(call)
    .description(description)
    .showHelpAfterError()
    .allowExcessArguments(false)
    .configureHelp({ showGlobalOptions: false })
}
