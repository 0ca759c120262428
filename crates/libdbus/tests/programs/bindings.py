#!/usr/bin/python3
"""A service and its caller with dbus-python: all types, large messages, descriptors, asynchronous
calls with a main loop, errors, signals and introspection. Prints results that must not depend on
the libdbus in use."""
import dbus, dbus.service, os, subprocess, sys
import dbus.mainloop.glib
from gi.repository import GLib
dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
IF='com.example.T'
class Svc(dbus.service.Object):
    @dbus.service.method(IF, in_signature='v', out_signature='v')
    def Echo(self, v): return v
    @dbus.service.method(IF, in_signature='ay', out_signature='u')
    def Size(self, b): return len(b)
    @dbus.service.method(IF, in_signature='', out_signature='h')
    def Fd(self):
        r,w=os.pipe(); os.write(w,b'hello fd'); os.close(w)
        f=dbus.types.UnixFd(r); os.close(r); return f
    @dbus.service.method(IF, in_signature='s', out_signature='s', async_callbacks=('ok','err'))
    def Later(self, s, ok, err): GLib.timeout_add(100, lambda: ok(s+'!') and False)
    @dbus.service.method(IF)
    def Fail(self): raise dbus.DBusException('boom', name='com.example.Boom')
    @dbus.service.method(IF, sender_keyword='s', path_keyword='p')
    def Who(self, s=None, p=None): return s+p
    @dbus.service.signal(IF, signature='sa{sv}')
    def Sig(self, a, b): pass
    @dbus.service.method(IF)
    def Emit(self): self.Sig('x', dbus.Dictionary({'k':dbus.Int64(-5)}, signature='sv'))
    @dbus.service.method(IF)
    def Quit(self): GLib.timeout_add(10, loop.quit)
loop=GLib.MainLoop()
if sys.argv[1:]==['serve']:
    b=dbus.SessionBus(); n=dbus.service.BusName('com.example.T', b)
    s=Svc(b,'/com/example/T'); s2=Svc(b,'/com/example/T/Child')
    print('ready', flush=True); loop.run(); print('served'); sys.exit(0)
p=subprocess.Popen([sys.executable, __file__, 'serve'], stdout=subprocess.PIPE, env=os.environ)
p.stdout.readline()
b=dbus.SessionBus(); o=b.get_object('com.example.T','/com/example/T'); i=dbus.Interface(o,IF)
for v in [dbus.Byte(5),True,dbus.Int16(-3),dbus.UInt16(3),dbus.Int32(-9),dbus.UInt32(9),dbus.Int64(-2**40),dbus.UInt64(2**50),1.5,'str\u20ac',dbus.ObjectPath('/a/b'),dbus.Signature('a{sv}'),
   dbus.Array([1,2,3],signature='i'),dbus.Array([],signature='(sv)'),dbus.Struct((1,'a',dbus.Array([dbus.Struct((dbus.Byte(1),2.5))]))),dbus.Dictionary({'a':dbus.Array(['x','y'],variant_level=1),'b':dbus.Int32(4,variant_level=1)},signature='sv'),
   dbus.Dictionary({1:'a'},signature='is'), dbus.String('vv',variant_level=3)]:
    r=i.Echo(v); assert r==v and type(r)==type(v) or r==v, (r,v); 
big=b'z'*5000000
assert i.Size(dbus.ByteArray(big))==len(big)
assert len(i.Echo(dbus.ByteArray(big), byte_arrays=True))==len(big)
f=i.Fd(); fd=f.take(); assert os.read(fd,100)==b'hello fd'; os.close(fd)
try: i.Fail(); assert 0
except dbus.DBusException as e: assert e.get_dbus_name()=='com.example.Boom' and 'boom' in str(e), e
assert i.Who()==b.get_unique_name()+'/com/example/T'
assert i.Later('a')=='a!'
x=o.Introspect(dbus_interface='org.freedesktop.DBus.Introspectable'); assert 'Echo' in x and '<node name="Child"/>' in x, x
x=b.get_object('com.example.T','/com').Introspect(dbus_interface='org.freedesktop.DBus.Introspectable'); print(x)
print(b.get_object('com.example.T','/nope').Introspect(dbus_interface='org.freedesktop.DBus.Introspectable'))
try: b.get_object('com.example.T','/com').Foo(dbus_interface='a.b'); assert 0
except dbus.DBusException as e: print(repr(str(e)))
got=[]
b.add_signal_receiver(lambda *a, **k: got.append((a,k)), dbus_interface=IF, signal_name='Sig', sender_keyword='s')
i.Emit(reply_handler=lambda *a: got.append('r'), error_handler=print)
i.Later('q', reply_handler=got.append, error_handler=print)
i.Fail(reply_handler=print, error_handler=lambda e: got.append(e.get_dbus_name()))
errs=[]
i.Later('t', timeout=0.02, reply_handler=print, error_handler=lambda e: errs.append(e.get_dbus_name()))
GLib.timeout_add(400, loop.quit); loop.run()
print(got, errs)
assert 'q!' in got and 'com.example.Boom' in got and errs==['org.freedesktop.DBus.Error.NoReply']
try: i.Later('z', timeout=0.01); assert 0
except dbus.DBusException as e: print(e.get_dbus_name())
i.Quit(); assert p.wait(5)==0
maps=open('/proc/self/maps').read()
folder=os.environ.get('LD_LIBRARY_PATH')
assert not folder or folder+'/libdbus-1.so.3' in maps
print('OK')
