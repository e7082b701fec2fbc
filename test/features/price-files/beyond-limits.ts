/** A process that exceeds its limits without ever waiting. */
import { limitProcess } from '../../../src/features/price-files/process-limits.ts'

limitProcess({ cpuMs: process.env.WHAT === 'loop' ? 500 : 600_000, memoryBytes: 300_000_000 })
if (process.env.WHAT === 'loop') for (;;);
Buffer.alloc(8_000_000_000, 1)
