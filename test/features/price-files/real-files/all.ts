import { ACCOUNTING } from './accounting.ts'
import { OTHER_WORKBOOKS } from './other-workbooks.ts'
import { PRICES } from './prices.ts'
import type { RealFile } from './real-file.ts'
import { ROWS } from './rows.ts'
import { TEXT_EXPORTS } from './text-exports.ts'
import { WORKBOOKS } from './workbooks.ts'

export const REAL_FILES: readonly RealFile[] = [
  ...ACCOUNTING,
  ...TEXT_EXPORTS,
  ...PRICES,
  ...ROWS,
  ...WORKBOOKS,
  ...OTHER_WORKBOOKS,
]
