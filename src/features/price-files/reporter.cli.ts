import type { WriteStream } from 'node:tty'
import { printable } from '../../runtime/print.ts'
import type { Progress } from './run.ts'

export interface Reporter {
  /** Prints one line about a step. */
  step(line: string): void
  /** Shows progress: a bar on a terminal, otherwise one line per 10%. */
  progress(progress: Readonly<Progress>, total: { validRows: number }): void
  /** Finishes the bar's line. */
  end(): void
}

/** Width of the bar, in characters. */
const BAR_WIDTH = 30

/** Reports an import's progress on a terminal or in a log. */
export function createReporter(output: NodeJS.WriteStream | WriteStream): Reporter {
  let barShown = false
  let lastTenth = -1
  let lastWaiting: string | null = null
  const end = () => {
    if (barShown) output.write('\n')
    barShown = false
  }
  const step = (line: string) => {
    end()
    output.write(`${printable(line)}\n`)
  }

  function describe({ phase, sent, processed, waiting }: Readonly<Progress>, validRows: number): string {
    const format = (count: number) => count.toLocaleString('en-AU')
    if (waiting) return `Sent ${format(sent)} of ${format(validRows)}. ${waiting}`
    if (phase !== 'processing') return `Sent ${format(sent)} of ${format(validRows)} items`
    return `All sent; the platform has processed ${processed === null ? 'an unknown number' : format(processed)} of ${format(validRows)}`
  }

  return {
    step,
    end,
    progress(progress, { validRows }) {
      const { phase, sent, processed } = progress
      const fraction = phase === 'processing' ? (processed ?? 0) / validRows : sent / validRows
      if (output.isTTY) {
        const filled = Math.round(Math.min(fraction, 1) * BAR_WIDTH)
        output.write(
          `\r\u001b[K[${'#'.repeat(filled)}${'.'.repeat(BAR_WIDTH - filled)}] ${printable(describe(progress, validRows))}`,
        )
        barShown = true
        return
      }
      const tenth = (phase === 'processing' ? 100 : 0) + Math.floor(fraction * 10)
      if (phase === 'starting' || (tenth === lastTenth && progress.waiting === lastWaiting)) return
      lastTenth = tenth
      lastWaiting = progress.waiting
      step(describe(progress, validRows))
    },
  }
}
