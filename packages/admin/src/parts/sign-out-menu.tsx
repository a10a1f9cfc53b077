import { ActionIcon, Menu } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { LogOut } from 'lucide-react';
import type { ReactNode } from 'react';
import { signOut } from '../state/session.ts';
import { HostileText } from './hostile-text.tsx';

export function SignOutMenu({ subject }: { readonly subject: string }): ReactNode {
  const client = useQueryClient();
  return (
    <Menu position="top-end" withinPortal defaultOpened returnFocus>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label="Sign out">
          <LogOut size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          Signed in as <HostileText text={subject} />
        </Menu.Label>
        <Menu.Item onClick={() => void signOut(client, false).catch(() => undefined)}>Sign out</Menu.Item>
        <Menu.Item onClick={() => void signOut(client, true).catch(() => undefined)}>
          Sign out everywhere
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
