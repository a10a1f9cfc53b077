import { Lock } from 'lucide-react';
import type { ReactNode } from 'react';

interface SettingRowProps {
  readonly label: string;
  readonly about: string;
  /** Why it cannot be changed here. */
  readonly fixed?: string | undefined;
  readonly children: ReactNode;
}

export function SettingRow({ label, about, fixed, children }: SettingRowProps): ReactNode {
  return (
    <div className="setting">
      <div className="grow">
        <strong>{label}</strong>
        <p className="quiet small">{about}</p>
        {fixed !== undefined && (
          <p className="small fixed">
            <Lock size={12} aria-hidden /> {fixed}
          </p>
        )}
      </div>
      {children}
    </div>
  );
}
